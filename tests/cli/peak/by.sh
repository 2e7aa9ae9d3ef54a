cd "$EXAMPLES" || exit 1
for by in owner file function module category size pool stream age; do
    "$VRAMSCOPE" peak --by "$by" -n 3 train.pickle | tail -n +7
done
for key in K0 K1 K2 K3; do
    "$VRAMSCOPE" peak --by site --key "$key" -n 2 train.pickle | tail -n +7
done
