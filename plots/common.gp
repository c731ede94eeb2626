# What all pictures share. Set before: heading_font, small_font, point (size of marks), width, height (pixels), x_max, x_step, x_label, heading, key_rows.
set encoding utf8
set border 3 linecolor rgb '#444444' linewidth 1
set tics nomirror out scale 0.5 textcolor rgb '#222222'
set xtics offset 0, 0.3
set grid ytics linecolor rgb '#dddddd' linewidth 1 linetype 1
set style fill solid 1.0 noborder
set key off
set lmargin at screen 96.0 / width
set rmargin at screen 1 - 28.0 / width

# places in pixels from the bottom, as the share of the height that gnuplot wants
px(y) = y / (1.0 * height)
key_y = px(12)
bottom = px(74 + 26 * key_rows) # of the lowest axis: its numbers, its label, the key
top = 1 - px(58)                # of the highest panel: under the heading
set label 1 heading at screen 0.5, screen 1 - px(26) center front font heading_font
set xlabel offset 0, 0.9

# tics of a logarithmic axis: 1, 2, 5 per decade, or the decades alone where there are many
few(low, high) = high / low <= 2e3
