# Reads numbers, draws each as a bar.
while read -r number; do
    printf -v bar '%*s' "$number" ''
    echo "$number ${bar// /#}"
done
