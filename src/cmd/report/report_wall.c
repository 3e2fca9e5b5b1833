#include "cmd/report/report_wall.h"

#include "profile/gather/gather.h"
#include "profile/gather/wallmarks.h"

int report_wall_choose(const struct session *s, int wish, bool *ret_has_wall, struct err *err)
{
	bool has_wall = wish < 0 ? wallmarks_has_wall(s) : wish;

	if (has_wall && !wallmarks_can_have_wall(s))
		return err_set(err, ERR_INVAL,
			"--wall: the recording does not tell when its threads went on and off the CPU: record with 'pace record --wall'");
	*ret_has_wall = has_wall;
	return 0;
}

int report_wall_check_columns(const struct histrows_options *t, bool has_wall, struct err *err)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i]->is_wall && !has_wall)
			return err_set(err, ERR_INVAL,
				"--fields: '%s' is about time on and off the CPU, which only recordings made with 'pace record --wall' have",
				t->columns[i]->name);
	return 0;
}

bool report_wall_is_whole(u32 event)
{
	return event == AGGREGATE_WALL;
}
