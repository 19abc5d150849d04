// Lists of values that are parameters of a kernel, or members of a structure in memory. A list is a macro
// L(F), which expands to F(type, name) for each value.
#pragma once

// Parameters that follow another parameter.
#define AS_PARAMETER(type, name) , type name
// Members of a structure.
#define AS_MEMBER(type, name) type name;
// Variables with the values of the members of the structure `member`.
#define AS_LOCAL(type, name) type name = member.name;
