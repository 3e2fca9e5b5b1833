#include <vector>
#include <algorithm>
#include <string>
#include <cstdio>
static inline __attribute__((always_inline)) unsigned mix(unsigned a){ a^=a<<13; a^=a>>17; a^=a<<5; return a; }
template<class T> static inline __attribute__((always_inline)) T churn(T x){ for(int i=0;i<20;i++) x=mix(x); return x; }
struct Shape { virtual unsigned area(unsigned n)=0; virtual ~Shape(){} };
struct Circle: Shape { __attribute__((noinline)) unsigned area(unsigned n) override { unsigned s=0; for(unsigned i=0;i<n;i++) s+=churn<unsigned>(i+1); return s; } };
__attribute__((noinline)) static unsigned sorts(int n){ std::vector<unsigned> v(n); for(int i=0;i<n;i++) v[i]=mix(i+7); std::sort(v.begin(),v.end()); return v[n/2]; }
int main(int c,char**){ Circle k; unsigned t=0; for(int i=0;i<60;i++){ t+=k.area(200000); t+=sorts(60000); std::string s(1000,'a'); t+=s.size(); } printf("%u\n",t); }
