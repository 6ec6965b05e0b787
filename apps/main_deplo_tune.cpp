#include "apps/cli/cli.h"

int main(int argc, char** argv) { return deplo::apps::run_program(argc, argv, true); }
