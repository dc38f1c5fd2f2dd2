#include "helper.h"

int main(void) { return helper(); }
