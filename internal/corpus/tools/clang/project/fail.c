#include <stdio.h>

int add(int a, int b);

int main(void) {
  int n = add(1);
  printf("%d\n", missing);
  return "text";
}
