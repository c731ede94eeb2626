# Cost against peak P99: lower left is better. cost-p99.dat, a block a strategy: cost cost-half p99 p99-half unserved(1: P99 infinite).
# Set before: n, titles, colors, shapes, cost_low, cost_high, cost_label, y_low, y_high, slo (NaN: none), slo_title, any_unserved.
set xrange [cost_low:cost_high]
set xtics autofreq
set xlabel cost_label
set grid xtics ytics linecolor rgb '#dddddd' linewidth 1 linetype 1
set logscale y
set yrange [y_low:y_high]
unset ytics
set ytics nomirror out ('' y_low)
do for [e = -7:9] {
    do for [m = 1:5] {
        if (m == 1 || ((m == 2 || m == 5) && few(y_low, y_high))) {
            set ytics add (sprintf('%g', m * 10.0 ** e) m * 10.0 ** e)
        }
    }
}
set ylabel 'P99 latency in the peaks (s), all offered requests' offset 0.5, 0
set tmargin at screen top
set bmargin at screen bottom
set key on at screen 0.5, screen key_y center bottom horizontal samplen 2.5
mark = 10 ** (log10(y_high) - 0.10 * log10(y_high / y_low))
tip = 10 ** (0.09 * log10(y_high / y_low))
if (any_unserved) {
    set label 3 'infinite: more than 1 % not served' at graph 0.01, first mark left offset 0, 1.2 front textcolor rgb '#444444'
}
plot slo with lines linecolor rgb '#000000' linewidth 2 dashtype 2 title slo_title, \
     for [i = 1:n] 'cost-p99.dat' index (i - 1) using 1:($5 > 0 ? NaN : $3):($1 - $2):($1 + $2):($3 - $4 > y_low ? $3 - $4 : y_low):($3 + $4) with xyerrorbars linecolor rgb colors[i] linewidth 2 pointtype 0 notitle, \
     for [i = 1:n] 'cost-p99.dat' index (i - 1) using 1:($5 > 0 ? mark : NaN):(0):(mark * tip - mark) with vectors linecolor rgb colors[i] linewidth 3 filled head notitle, \
     for [i = 1:n] 'cost-p99.dat' index (i - 1) using 1:($5 > 0 ? mark : $3) with points linecolor rgb colors[i] linewidth 2 pointtype shapes[i] pointsize 2 title titles[i]
