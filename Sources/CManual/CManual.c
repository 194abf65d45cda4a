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
#embed "../../docs/operating/installing.md"
};
static const unsigned char page12[] = {
#embed "../../docs/operating/jobs.md"
};
static const unsigned char page13[] = {
#embed "../../docs/operating/monitoring.md"
};
static const unsigned char page14[] = {
#embed "../../docs/operating/retention.md"
};
static const unsigned char page15[] = {
#embed "../../docs/operating/reverse-proxy.md"
};
static const unsigned char page16[] = {
#embed "../../docs/operating/sandbox.md"
};
static const unsigned char page17[] = {
#embed "../../docs/operating/troubleshooting-integrations.md"
};
static const unsigned char page18[] = {
#embed "../../docs/operating/troubleshooting.md"
};
static const unsigned char page19[] = {
#embed "../../docs/operating/upgrading.md"
};
static const unsigned char page20[] = {
#embed "../../docs/reference/bot-file-lists.md"
};
static const unsigned char page21[] = {
#embed "../../docs/reference/bot-file.md"
};
static const unsigned char page22[] = {
#embed "../../docs/reference/commands-integrations.md"
};
static const unsigned char page23[] = {
#embed "../../docs/reference/commands-versions.md"
};
static const unsigned char page24[] = {
#embed "../../docs/reference/commands.md"
};
static const unsigned char page25[] = {
#embed "../../docs/reference/environment.md"
};
static const unsigned char page26[] = {
#embed "../../docs/reference/exit-codes.md"
};
static const unsigned char page27[] = {
#embed "../../docs/reference/http-answers.md"
};
static const unsigned char page28[] = {
#embed "../../docs/reference/http-api.md"
};
static const unsigned char page29[] = {
#embed "../../docs/reference/http-pages.md"
};
static const unsigned char page30[] = {
#embed "../../docs/reference/limits-jobs.md"
};
static const unsigned char page31[] = {
#embed "../../docs/reference/limits.md"
};
static const unsigned char page32[] = {
#embed "../../docs/reference/recipe.md"
};
static const unsigned char page33[] = {
#embed "../../docs/reference/report-formats.md"
};
static const unsigned char page34[] = {
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
    {"operating/installing", page11, sizeof page11},
    {"operating/jobs", page12, sizeof page12},
    {"operating/monitoring", page13, sizeof page13},
    {"operating/retention", page14, sizeof page14},
    {"operating/reverse-proxy", page15, sizeof page15},
    {"operating/sandbox", page16, sizeof page16},
    {"operating/troubleshooting-integrations", page17, sizeof page17},
    {"operating/troubleshooting", page18, sizeof page18},
    {"operating/upgrading", page19, sizeof page19},
    {"reference/bot-file-lists", page20, sizeof page20},
    {"reference/bot-file", page21, sizeof page21},
    {"reference/commands-integrations", page22, sizeof page22},
    {"reference/commands-versions", page23, sizeof page23},
    {"reference/commands", page24, sizeof page24},
    {"reference/environment", page25, sizeof page25},
    {"reference/exit-codes", page26, sizeof page26},
    {"reference/http-answers", page27, sizeof page27},
    {"reference/http-api", page28, sizeof page28},
    {"reference/http-pages", page29, sizeof page29},
    {"reference/limits-jobs", page30, sizeof page30},
    {"reference/limits", page31, sizeof page31},
    {"reference/recipe", page32, sizeof page32},
    {"reference/report-formats", page33, sizeof page33},
    {"reference/settings", page34, sizeof page34},
};

size_t manual_page_count(void) { return sizeof pages / sizeof *pages; }

struct manual_page manual_page(size_t index) { return pages[index]; }
