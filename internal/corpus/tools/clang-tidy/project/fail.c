int half(int n) {
  int *p = 0;
  if (n = 2)
    return *p;
  return n / 0;
}
