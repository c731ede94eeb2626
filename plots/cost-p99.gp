# Cost against peak P99: lower left is better. cost-p99.dat, a block a strategy: cost cost-half p99 p99-half unserved(1: P99 infinite).
# Set before: n, titles, colors, shapes, cost_low, cost_high, cost_label, y_low, finite_high, y_high (more, where any_unserved), slo (NaN: none), slo_title, any_unserved.
set xrange [cost_low:cost_high]
set xtics autofreq
set xlabel cost_label offset 0, 0.9
set grid xtics ytics linecolor rgb '#dddddd' linewidth 1 linetype 1
set logscale y
set yrange [y_low:y_high]
unset ytics
set ytics nomirror out ('' y_low)
do for [e = -7:9] {
    do for [m = 1:5] {
        if ((m == 1 || ((m == 2 || m == 5) && few(y_low, y_high))) && m * 10.0 ** e <= finite_high * 1.001) {
            set ytics add (sprintf('%g', m * 10.0 ** e) m * 10.0 ** e)
        }
    }
}
set ylabel 'P99 latency in the peaks (s), all offered requests' offset 0.5, 0
set tmargin at screen top
set bmargin at screen bottom
set key on at screen 0.5, screen key_y center bottom horizontal maxcols 1 Left reverse samplen 2.5
mark = 10 ** (0.6 * log10(finite_high) + 0.4 * log10(y_high))
tip = 10 ** (0.5 * log10(y_high / finite_high))
if (any_unserved) {
    set object 1 rectangle from graph 0, first finite_high to graph 1, graph 1 behind fillcolor rgb '#f0f0f0' fillstyle solid noborder
    set label 3 'grey: infinite, more than 1 % of the requests in the peaks were not served' at screen 0.5, screen 1 - px(49) center front font small_font textcolor rgb '#444444'
}
plot slo with lines linecolor rgb '#000000' linewidth 2 dashtype 2 title slo_title, \
     for [i = 1:n] 'cost-p99.dat' index (i - 1) using 1:($5 > 0 ? NaN : $3):($1 - $2):($1 + $2):($3 - $4 > y_low ? $3 - $4 : y_low):($3 + $4) with xyerrorbars linecolor rgb colors[i] linewidth 2 pointtype 0 notitle, \
     for [i = 1:n] 'cost-p99.dat' index (i - 1) using 1:($5 > 0 ? mark : NaN):(0):(mark * tip - mark) with vectors linecolor rgb colors[i] linewidth 3 filled head notitle, \
     for [i = 1:n] 'cost-p99.dat' index (i - 1) using 1:($5 > 0 ? mark : $3) with points linecolor rgb colors[i] linewidth 2 pointtype shapes[i] pointsize 1.4 * point title titles[i]
