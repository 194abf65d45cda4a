// Written by hooks/reference: the pages of docs/.
#include "CManual.h"
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page0[] = {
#embed "../../docs/CHANGELOG.md"
};
static const unsigned char page1[] = {
#embed "../../docs/internals/architecture.md"
};
static const unsigned char page2[] = {
#embed "../../docs/internals/job-protocol.md"
};
static const unsigned char page3[] = {
#embed "../../docs/internals/performance.md"
};
static const unsigned char page4[] = {
#embed "../../docs/internals/state-directory.md"
};
static const unsigned char page5[] = {
#embed "../../docs/internals/style.md"
};
static const unsigned char page6[] = {
#embed "../../docs/internals/testing.md"
};
static const unsigned char page7[] = {
#embed "../../docs/internals/threats.md"
};
static const unsigned char page8[] = {
#embed "../../docs/manual.md"
};
static const unsigned char page9[] = {
#embed "../../docs/operating/backup.md"
};
static const unsigned char page10[] = {
#embed "../../docs/operating/git-servers.md"
};
static const unsigned char page11[] = {
#embed "../../docs/operating/git.md"
};
static const unsigned char page12[] = {
#embed "../../docs/operating/installing.md"
};
static const unsigned char page13[] = {
#embed "../../docs/operating/jobs.md"
};
static const unsigned char page14[] = {
#embed "../../docs/operating/monitoring.md"
};
static const unsigned char page15[] = {
#embed "../../docs/operating/retention.md"
};
static const unsigned char page16[] = {
#embed "../../docs/operating/reverse-proxy.md"
};
static const unsigned char page17[] = {
#embed "../../docs/operating/sandbox.md"
};
static const unsigned char page18[] = {
#embed "../../docs/operating/troubleshooting-integrations.md"
};
static const unsigned char page19[] = {
#embed "../../docs/operating/troubleshooting.md"
};
static const unsigned char page20[] = {
#embed "../../docs/operating/upgrading.md"
};
static const unsigned char page21[] = {
#embed "../../docs/reference/bot-file-lists.md"
};
static const unsigned char page22[] = {
#embed "../../docs/reference/bot-file.md"
};
static const unsigned char page23[] = {
#embed "../../docs/reference/commands-integrations.md"
};
static const unsigned char page24[] = {
#embed "../../docs/reference/commands-versions.md"
};
static const unsigned char page25[] = {
#embed "../../docs/reference/commands.md"
};
static const unsigned char page26[] = {
#embed "../../docs/reference/environment.md"
};
static const unsigned char page27[] = {
#embed "../../docs/reference/exit-codes.md"
};
static const unsigned char page28[] = {
#embed "../../docs/reference/http-answers.md"
};
static const unsigned char page29[] = {
#embed "../../docs/reference/http-api.md"
};
static const unsigned char page30[] = {
#embed "../../docs/reference/http-pages.md"
};
static const unsigned char page31[] = {
#embed "../../docs/reference/limits-jobs.md"
};
static const unsigned char page32[] = {
#embed "../../docs/reference/limits.md"
};
static const unsigned char page33[] = {
#embed "../../docs/reference/recipe.md"
};
static const unsigned char page34[] = {
#embed "../../docs/reference/report-formats.md"
};
static const unsigned char page35[] = {
#embed "../../docs/reference/settings.md"
};

static const struct manual_page pages[] = {
    {"CHANGELOG", page0, sizeof page0},
    {"internals/architecture", page1, sizeof page1},
    {"internals/job-protocol", page2, sizeof page2},
    {"internals/performance", page3, sizeof page3},
    {"internals/state-directory", page4, sizeof page4},
    {"internals/style", page5, sizeof page5},
    {"internals/testing", page6, sizeof page6},
    {"internals/threats", page7, sizeof page7},
    {"manual", page8, sizeof page8},
    {"operating/backup", page9, sizeof page9},
    {"operating/git-servers", page10, sizeof page10},
    {"operating/git", page11, sizeof page11},
    {"operating/installing", page12, sizeof page12},
    {"operating/jobs", page13, sizeof page13},
    {"operating/monitoring", page14, sizeof page14},
    {"operating/retention", page15, sizeof page15},
    {"operating/reverse-proxy", page16, sizeof page16},
    {"operating/sandbox", page17, sizeof page17},
    {"operating/troubleshooting-integrations", page18, sizeof page18},
    {"operating/troubleshooting", page19, sizeof page19},
    {"operating/upgrading", page20, sizeof page20},
    {"reference/bot-file-lists", page21, sizeof page21},
    {"reference/bot-file", page22, sizeof page22},
    {"reference/commands-integrations", page23, sizeof page23},
    {"reference/commands-versions", page24, sizeof page24},
    {"reference/commands", page25, sizeof page25},
    {"reference/environment", page26, sizeof page26},
    {"reference/exit-codes", page27, sizeof page27},
    {"reference/http-answers", page28, sizeof page28},
    {"reference/http-api", page29, sizeof page29},
    {"reference/http-pages", page30, sizeof page30},
    {"reference/limits-jobs", page31, sizeof page31},
    {"reference/limits", page32, sizeof page32},
    {"reference/recipe", page33, sizeof page33},
    {"reference/report-formats", page34, sizeof page34},
    {"reference/settings", page35, sizeof page35},
};

size_t manual_page_count(void) { return sizeof pages / sizeof *pages; }

struct manual_page manual_page(size_t index) { return pages[index]; }
