int sign(int value) {
    if (value < 0) {
        return -1;
    }
    return 1;
}

int twice(int value) {
    return 2 * value;
}
