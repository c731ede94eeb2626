# Replicas by lifecycle state, stacked, a panel a strategy. replicas.dat, a block a strategy: x, the upper edge of each state from the top of the stack
# down, needed. Set before: n, titles, colors, y_max, y_step, states, state_titles, state_colors, need_title ('' if unknown).
set xrange [0:x_max]
set xtics 0, x_step
set ytics y_step
set yrange [0:y_max]
gap = px(38)
panel = (top - bottom - (n - 1) * gap - px(14)) / n
set multiplot
do for [i = 1:n] {
    set tmargin at screen top - px(14) - (i - 1) * (panel + gap)
    set bmargin at screen top - px(14) - (i - 1) * (panel + gap) - panel
    set label 2 titles[i] at graph 0.0, graph 1.0 offset 0.5, 0.65 left front textcolor rgb colors[i]
    if (i == 1) { set ylabel 'replicas' offset 0.5, 0 }
    if (i == 2) { unset label 1 }
    if (i == n) {
        set format x '%g'
        set xtics scale 0.5
        set xlabel x_label offset 0, 0.9
        set key on at screen 0.5, screen key_y center bottom horizontal Left reverse samplen 1.5
    } else {
        set format x ''
        set xtics scale 0
    }
    plot for [k = 1:states] 'replicas.dat' index (i - 1) using 1:(column(k + 1)) with filledcurves y1=0 linecolor rgb state_colors[k] title state_titles[k], \
         'replicas.dat' index (i - 1) using 1:(column(states + 2)) with lines linecolor rgb '#000000' linewidth 1.5 title need_title
}
unset multiplot
