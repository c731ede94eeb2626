# The stages of each start from the moment it was asked for, a panel a strategy. waterfall.dat, a block a strategy and stage: from to row.
# Set before: n, columns, rows, titles, colors, counts, start_max, start_step, start_label, stages, stage_titles, stage_colors, any.
set xrange [0:start_max]
set xtics 0, start_step
set grid xtics noytics linecolor rgb '#dddddd' linewidth 1 linetype 1
unset ytics
set border 1
gap_x = 40.0 / width
gap_y = px(74)
left = 56.0 / width
panel_x = (1 - left - 28.0 / width - (columns - 1) * gap_x) / columns
panel_y = (top - bottom - (rows - 1) * gap_y - px(20)) / rows
set multiplot
do for [i = 1:n] {
    row = (i - 1) / columns
    across = (i - 1) % columns
    set lmargin at screen left + across * (panel_x + gap_x)
    set rmargin at screen left + across * (panel_x + gap_x) + panel_x
    set tmargin at screen top - px(20) - row * (panel_y + gap_y)
    set bmargin at screen top - px(20) - row * (panel_y + gap_y) - panel_y
    set yrange [(counts[i] > 8 ? counts[i] : 8) + 0.6:0.4]
    set label 2 titles[i] at graph 0.0, graph 1.0 offset 0, 0.65 left front textcolor rgb colors[i]
    if (i == 2) { unset label 1 }
    if (across == 0) { set ylabel 'start, in order of asking' offset 1.5, 0 } else { unset ylabel }
    set xlabel (i + columns > n ? start_label : '') offset 0, 0.9
    plot for [k = 1:stages] 'waterfall.dat' index ((i - 1) * stages + k - 1) using 1:3:1:2:($3 - 0.4):($3 + 0.4) with boxxyerror linecolor rgb stage_colors[k]
}
# the legend over the whole width, from a panel that shows nothing else
set lmargin at screen left
set rmargin at screen 1 - 28.0 / width
unset label 1
unset label 2
unset border
unset grid
unset xtics
unset xlabel
unset ylabel
set yrange [0:1]
set key on at screen 0.5, screen key_y center bottom horizontal Left reverse samplen 1.5
plot for [k = 1:stages] NaN with boxes linecolor rgb stage_colors[k] title stage_titles[k]
unset multiplot
