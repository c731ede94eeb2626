# Demand against what the replicas carry within the SLO, a panel a strategy. capacity.dat, a block a strategy: x offered ready provisioned.
# Set before: n, titles, colors, y_max, y_step, known (is any capacity known?).
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
    if (i == 1) { set ylabel 'requests/s' offset 1.2, 0 }
    if (i == 2) { unset label 1 }
    if (i == n) {
        set format x '%g'
        set xtics scale 0.5
        set xlabel x_label offset 0, 0.9
        set key on at screen 0.5, screen key_y center bottom horizontal Left reverse samplen 2.5
    } else {
        set format x ''
        set xtics scale 0
    }
    plot 'capacity.dat' index (i - 1) using 1:3 with filledcurves y1=0 linecolor rgb '#7FCEB9' title (known ? 'ready capacity within the SLO' : 'capacity unknown: no SLO'), \
         'capacity.dat' index (i - 1) using 1:4 with lines linecolor rgb '#D55E00' linewidth 2 dashtype 2 title (known ? 'with those that are starting' : ''), \
         'capacity.dat' index (i - 1) using 1:2 with lines linecolor rgb '#000000' linewidth 2 title 'offered'
}
unset multiplot
