// types.cc - as types.c, of C++: classes, bases, namespaces, references, members of templates.
#define NOINLINE __attribute__((noinline))

namespace world {
class thing {
public:
	virtual ~thing() {}
	long weight = 1;
	thing *above = nullptr;
};

class box : public thing {
public:
	int width = 2, height = 3;
	NOINLINE long area() const;
};

template <typename T> struct pair {
	T first;
	T second;
};
} // namespace world

/* types _ZNK5world3box4areaEv: class world::box +0x18 (width); class world::box +0x1c (height); class world::box +0x8 (weight) */
long world::box::area() const
{
	return width * height + weight;
}

/* types referred: struct world::pair<int> +0x4 (second) */
extern "C" NOINLINE long referred(const world::pair<int> &p)
{
	return p.second;
}

/* types climbed: class world::thing +0x10 (above); class world::thing +0x8 (weight) */
extern "C" NOINLINE long climbed(const world::thing *t)
{
	long s = 0;

	for (; t; t = t->above)
		s += t->weight;
	return s;
}

int main(int argc, char **)
{
	world::box b;
	world::pair<int> p = {argc, argc + 1};

	return (int)(b.area() + referred(p) + climbed(&b));
}
