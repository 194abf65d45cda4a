int sign(int value);

int main(void) {
    return sign(1) == 1 ? 0 : 1;
}
