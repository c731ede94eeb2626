# P99 above, P50 below, of every strategy over time. latency.dat, a block a strategy: x p50 p99 unserved-mark.
# Set before: n, titles, colors, dashes, p99_low, p99_high, p50_low, p50_high, slo (NaN: none), slo_title, any_unserved.
set xrange [0:x_max]
set xtics 0, x_step
set logscale y
array lows[2] = [p99_low, p50_low]
array highs[2] = [p99_high, p50_high]
array names[2] = ['P99 latency (s)', 'P50 latency (s)']
middle = bottom + 0.36 * (top - bottom)
set multiplot
do for [panel = 1:2] {
    low = lows[panel]
    high = highs[panel]
    set yrange [low:high]
    unset ytics
    set ytics nomirror out ('' low)
    do for [e = -7:9] {
        do for [m = 1:5] {
            if (m == 1 || ((m == 2 || m == 5) && few(low, high))) {
                set ytics add (sprintf('%g', m * 10.0 ** e) m * 10.0 ** e)
            }
        }
    }
    set ylabel names[panel] offset 0.5, 0
    if (panel == 1) {
        set tmargin at screen top
        set bmargin at screen middle + px(14)
        set format x ''
        unset xlabel
    } else {
        unset label 1
        set tmargin at screen middle - px(14)
        set bmargin at screen bottom
        set format x '%g'
        set xlabel x_label offset 0, 0.9
        set key on at screen 0.5, screen key_y center bottom horizontal Left reverse samplen 2.5
    }
    mark = 10 ** (log10(high) - 0.03 * log10(high / low))
    plot for [i = 1:n] 'latency.dat' index (i - 1) using 1:(column(4 - panel)) with lines linecolor rgb colors[i] dashtype dashes[i] linewidth 2.5 title titles[i], \
         for [i = 1:n] 'latency.dat' index (i - 1) using 1:(column(3 + panel) > 0 ? mark : NaN) with points pointtype 9 pointsize 0.9 * point linecolor rgb colors[i] notitle, \
         (panel == 2 && any_unserved ? mark * 1e9 : NaN) with points pointtype 9 pointsize 1.2 * point linecolor rgb '#444444' title (any_unserved ? 'not served (infinite)' : ''), \
         (panel == 1 ? slo : slo * 1e-9) with lines linecolor rgb '#000000' linewidth 2 dashtype 2 title slo_title
}
unset multiplot
