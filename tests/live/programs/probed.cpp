#include <cstdio>
#include <string>
namespace shop { struct Item { int id; double price; int get(int k) const; };
template<class T> __attribute__((noinline)) T add(T a, T b) { return a + b; }
__attribute__((noinline)) int Item::get(int k) const { return id + k; } 
__attribute__((noinline)) int take(const Item &it, int n) { return it.get(n) + add(n, 3); } }
int main(int argc,char**argv){ shop::Item i{42, 1.5}; std::printf("%d\n", shop::take(i, argc)); return 0; }
