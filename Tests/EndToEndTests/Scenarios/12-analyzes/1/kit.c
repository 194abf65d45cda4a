int main() {
    goto end;
end:
    return 0;
}
