#include <string>
#include <vector>

template <typename T> T sum(const std::vector<T> &v) {
  T s = 0;
  for (const auto &x : v) s += x.value();
  return s;
}

int main() { return sum(std::vector<int>{1, 2}); }
