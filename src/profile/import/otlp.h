/*
 * otlp.h - the numbers of the fields of OpenTelemetry's profiles, which the importer reads and the export form writes.
 *
 * The format is in development; these are the numbers of opentelemetry-proto 1.11, which has those of 1.10. Up to 1.9 samples had
 * others. Tables of the dictionary begin with a zero value, so that 0 refers to nothing.
 * Source   github.com/open-telemetry/opentelemetry-proto: opentelemetry/proto/profiles/v1development/profiles.proto
 */
#ifndef PACE_PROFILE_IMPORT_OTLP_H
#define PACE_PROFILE_IMPORT_OTLP_H

enum otlp_data_field { OTLP_RESOURCE_PROFILES = 1, OTLP_DICTIONARY = 2 };

enum otlp_dictionary {
	OTLP_MAPPINGS = 1,
	OTLP_LOCATIONS,
	OTLP_FUNCTIONS,
	OTLP_LINKS,
	OTLP_STRINGS,
	OTLP_ATTRIBUTES,
	OTLP_STACKS,
};

enum otlp_resource_field { OTLP_RESOURCE = 1, OTLP_SCOPE_PROFILES = 2, OTLP_RESOURCE_SCHEMA = 3 };
enum otlp_scope_field { OTLP_SCOPE = 1, OTLP_PROFILES = 2 };
enum otlp_scope_name_field { OTLP_SCOPE_NAME = 1, OTLP_SCOPE_VERSION = 2 };
enum otlp_profile_field { OTLP_SAMPLE_TYPE = 1, OTLP_SAMPLES = 2 };
enum otlp_type_field { OTLP_TYPE = 1, OTLP_UNIT = 2 };

enum otlp_sample_field {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES,
	OTLP_SAMPLE_LINK,
	OTLP_SAMPLE_VALUES,
	OTLP_SAMPLE_TIMES, /* 8 bytes each */
};

enum otlp_mapping_field {
	OTLP_MAPPING_START = 1,
	OTLP_MAPPING_LIMIT,
	OTLP_MAPPING_OFFSET,
	OTLP_MAPPING_FILE,
	OTLP_MAPPING_ATTRIBUTES,
};

enum otlp_location_field {
	OTLP_LOCATION_MAPPING = 1,
	OTLP_LOCATION_ADDRESS,
	OTLP_LOCATION_LINES, /* the innermost function first */
	OTLP_LOCATION_ATTRIBUTES,
};

enum otlp_line_field { OTLP_LINE_FUNCTION = 1, OTLP_LINE_NUMBER = 2 };
enum otlp_function_field { OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME, OTLP_FUNCTION_FILE };
enum otlp_stack_field { OTLP_STACK_LOCATIONS = 1 /* the innermost first */ };
enum otlp_attribute_field { OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE = 2 };
enum otlp_value_field { OTLP_VALUE_TEXT = 1, OTLP_VALUE_NUMBER = 3 };

/* Keys of attributes: OpenTelemetry's semantic conventions. */
#define OTLP_KEY_THREAD_NAME "thread.name"
#define OTLP_KEY_BUILD       "process.executable.build_id.gnu"
#define OTLP_KEY_FRAME_TYPE  "profile.frame.type"
#define OTLP_FRAME_KERNEL    "kernel"
#define OTLP_FRAME_NATIVE    "native"

#endif
