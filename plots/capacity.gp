# Demand against what the replicas carry within the SLO, a panel a strategy. capacity.dat, a block a strategy: x offered ready provisioned.
# Set before: n, titles, y_max, known (is any capacity known?).
set xrange [0:x_max]
set xtics 0, x_step
set yrange [0:y_max]
gap = px(34)
panel = (top - bottom - (n - 1) * gap - px(14)) / n
set multiplot
do for [i = 1:n] {
    set tmargin at screen top - px(14) - (i - 1) * (panel + gap)
    set bmargin at screen top - px(14) - (i - 1) * (panel + gap) - panel
    set label 2 titles[i] at graph 0.0, graph 1.0 offset 0.5, 0.65 left front textcolor rgb '#222222'
    if (i == 1) { set ylabel 'requests/s' offset 0.5, 0 }
    if (i == 2) { unset label 1 }
    if (i == n) {
        set format x '%g'
        set xlabel x_label
        set key on at screen 0.5, screen key_y center bottom horizontal samplen 2.5
    } else {
        set format x ''
    }
    plot 'capacity.dat' index (i - 1) using 1:3 with fillsteps linecolor rgb '#7FCEB9' title (known ? 'ready replicas carry, within the SLO' : 'capacity unknown: no SLO'), \
         'capacity.dat' index (i - 1) using 1:4 with steps linecolor rgb '#D55E00' linewidth 2 dashtype 2 title (known ? 'ready and starting would carry' : ''), \
         'capacity.dat' index (i - 1) using 1:2 with steps linecolor rgb '#000000' linewidth 2 title 'offered'
}
unset multiplot
