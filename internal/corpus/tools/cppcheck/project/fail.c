#include <stdlib.h>

int main(void) {
  int a[2];
  char *p = malloc(3);
  a[2] = 1;
  return a[0];
}
