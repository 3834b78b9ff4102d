# Reads a text, prints it with every letter moved by thirteen places.
puts $stdin.read.tr("A-Za-z", "N-ZA-Mn-za-m")
