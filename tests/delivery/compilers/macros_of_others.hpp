// SPDX-License-Identifier: MIT

// What other headers define as macros, by whose they are. Each becomes an error where it is used, with its
// owner's name in it.
//
// Not here: names that no file could use the standard library with, such as the move, clear and erase of
// curses for C; curses itself takes those back for C++. Nor the hundreds of names of terminals in term.h,
// among them `columns`: docs/limits.md.

// ---- Qt, and those who have its keywords
// --------------------------------------------------------------------

#define slots a macro of Qt
#define signals a macro of Qt
#define emit a macro of Qt
#define foreach a macro of Qt
#define forever a macro of Qt
#define Q_OBJECT a macro of Qt
#define Q_EMIT a macro of Qt
#define Q_FOREACH(...) a macro of Qt
#define Q_UNUSED(...) a macro of Qt
#define Q_ASSERT(...) a macro of Qt
#define qDebug a macro of Qt
#define tr(...) a macro of Qt

// ---- windows.h and what it includes
// -------------------------------------------------------------------------

#define min(...) a macro of Windows
#define max(...) a macro of Windows
#define near a macro of Windows
#define far a macro of Windows
#define small a macro of Windows
#define hyper a macro of Windows
#define interface a macro of Windows
#define cdecl a macro of Windows
#define pascal a macro of Windows
#define leave a macro of Windows
#define environ a macro of Windows
#define grp1 a macro of Windows
#define rad1 a macro of Windows
#define ABSOLUTE a macro of Windows
#define ALTERNATE a macro of Windows
#define ANYSIZE_ARRAY a macro of Windows
#define BOOLEAN a macro of Windows
#define CALLBACK a macro of Windows
#define CONST a macro of Windows
#define CREATE_NEW a macro of Windows
#define DELETE a macro of Windows
#define DIFFERENCE a macro of Windows
#define DOMAIN a macro of Windows
#define ERROR a macro of Windows
#define EXTERN_C a macro of Windows
#define FALSE a macro of Windows
#define HUGE a macro of Windows
#define IGNORE a macro of Windows
#define IN a macro of Windows
#define INFINITE a macro of Windows
#define INPUT a macro of Windows
#define MAX_PATH a macro of Windows
#define NO_ERROR a macro of Windows
#define OPAQUE a macro of Windows
#define OPTIONAL a macro of Windows
#define OUT a macro of Windows
#define OVERFLOW a macro of Windows
#define RELATIVE a macro of Windows
#define STRICT a macro of Windows
#define TEXT(...) a macro of Windows
#define THIS a macro of Windows
#define TRANSPARENT a macro of Windows
#define TRUE a macro of Windows
#define UNDERFLOW a macro of Windows
#define VOID a macro of Windows
#define WINAPI a macro of Windows
#define CopyFile a macro of Windows
#define CreateEvent a macro of Windows
#define CreateFile a macro of Windows
#define CreateMutex a macro of Windows
#define CreateProcess a macro of Windows
#define CreateWindow a macro of Windows
#define DeleteFile a macro of Windows
#define FindWindow a macro of Windows
#define FormatMessage a macro of Windows
#define FreeModule(...) a macro of Windows
#define GetClassName a macro of Windows
#define GetCurrentTime(...) a macro of Windows
#define GetFreeSpace(...) a macro of Windows
#define GetMessage a macro of Windows
#define GetObject a macro of Windows
#define LoadImage a macro of Windows
#define LoadLibrary a macro of Windows
#define RegisterClass a macro of Windows
#define ReportEvent a macro of Windows
#define SendMessage a macro of Windows
#define Yield(...) a macro of Windows
#define ZeroMemory a macro of Windows

// ---- X11
// ----------------------------------------------------------------------------------------------------

#define Above a macro of X11
#define Always a macro of X11
#define Below a macro of X11
#define Bool a macro of X11
#define Button1 a macro of X11
#define Complex a macro of X11
#define Convex a macro of X11
#define CurrentTime a macro of X11
#define CursorShape a macro of X11
#define DestroyAll a macro of X11
#define Expose a macro of X11
#define False a macro of X11
#define FocusIn a macro of X11
#define FocusOut a macro of X11
#define GrayScale a macro of X11
#define KeyPress a macro of X11
#define KeyRelease a macro of X11
#define LSBFirst a macro of X11
#define Never a macro of X11
#define Nonconvex a macro of X11
#define None a macro of X11
#define Opposite a macro of X11
#define Status a macro of X11
#define Success a macro of X11
#define True a macro of X11
#define Unsorted a macro of X11
#define Visual a macro of X11
#define XYPixmap a macro of X11
#define YSorted a macro of X11

// ---- Assertions and logs: macOS, Unreal Engine, glog, MFC, tests
// --------------------------------------------

#define check(...) a macro of assertions
#define checkf(...) a macro of assertions
#define check_noerr(...) a macro of assertions
#define ensure(...) a macro of assertions
#define expect(...) a macro of assertions
#define require(...) a macro of assertions
#define require_noerr(...) a macro of assertions
#define verify(...) a macro of assertions
#define verify_noerr(...) a macro of assertions
#define fail(...) a macro of assertions
#define unimplemented(...) a macro of assertions
#define unreachable(...) a macro of assertions
#define likely(...) a macro of assertions
#define unlikely(...) a macro of assertions
#define ASSERT(...) a macro of assertions
#define CHECK(...) a macro of assertions
#define DCHECK(...) a macro of assertions
#define DEBUG a macro of assertions
#define ENSURE(...) a macro of assertions
#define EXPECT(...) a macro of assertions
#define FAIL(...) a macro of assertions
#define FATAL a macro of assertions
#define INFO a macro of assertions
#define LOG a macro of assertions
#define REQUIRE(...) a macro of assertions
#define SECTION(...) a macro of assertions
#define SUCCEED(...) a macro of assertions
#define TEST(...) a macro of assertions
#define TEST_CASE(...) a macro of assertions
#define TRACE a macro of assertions
#define VERIFY(...) a macro of assertions
#define VLOG(...) a macro of assertions
#define WARN a macro of assertions
#define WARNING a macro of assertions
#define log(...) a macro of assertions
#define trace(...) a macro of assertions
#define debug(...) a macro of assertions
#define info(...) a macro of assertions
#define warn(...) a macro of assertions

// ---- C: complex.h, ctype.h, termios.h, tgmath.h, the systems' headers
// --------------------------------------

#define I a macro of C
#define complex a macro of C
#define imaginary a macro of C
#define _B a macro of C
#define _C a macro of C
#define _L a macro of C
#define _N a macro of C
#define _P a macro of C
#define _S a macro of C
#define _U a macro of C
#define _X a macro of C
#define B0 a macro of C
#define B50 a macro of C
#define B9600 a macro of C
#define ECHO a macro of C
#define NL0 a macro of C
#define TAB1 a macro of C
#define linux a macro of C
#define unix a macro of C
#define i386 a macro of C
#define major(...) a macro of C
#define minor(...) a macro of C
#define makedev(...) a macro of C
#define st_mtime a macro of C
#define sa_handler a macro of C
#define d_fileno a macro of C
#define howmany(...) a macro of C
#define roundup(...) a macro of C
#define powerof2(...) a macro of C
#define MIN(...) a macro of C
#define MAX(...) a macro of C
#define PI a macro of C
#define LIST_HEAD(...) a macro of C
#define LIST_ENTRY(...) a macro of C
#define SLIST_HEAD(...) a macro of C
#define TAILQ_HEAD(...) a macro of C
#define TAILQ_FOREACH(...) a macro of C
#define free(...) a macro of C
#define malloc(...) a macro of C
#define calloc(...) a macro of C
#define realloc(...) a macro of C
#define strdup(...) a macro of C

// ---- curses, in C++
// -----------------------------------------------------------------------------------------

#define addch(...) a macro of curses
#define addstr(...) a macro of curses
#define attrset(...) a macro of curses
#define border(...) a macro of curses
#define delch(...) a macro of curses
#define deleteln(...) a macro of curses
#define echochar(...) a macro of curses
#define getch(...) a macro of curses
#define getstr(...) a macro of curses
#define hline(...) a macro of curses
#define inch(...) a macro of curses
#define insch(...) a macro of curses
#define insertln(...) a macro of curses
#define instr(...) a macro of curses
#define scrl(...) a macro of curses
#define scroll(...) a macro of curses
#define setscrreg(...) a macro of curses
#define standend(...) a macro of curses
#define standout(...) a macro of curses
#define timeout(...) a macro of curses
#define touchline(...) a macro of curses
#define vline(...) a macro of curses
#define ERR a macro of curses
#define OK a macro of curses

// ---- GLib, gettext, Arduino ---------------------------------------------------------------------------

#define ABS(...) a macro of GLib
#define CLAMP(...) a macro of GLib
#define _(...) a macro of gettext
#define N_(...) a macro of gettext
#define abs(...) a macro of Arduino
#define bit(...) a macro of Arduino
#define constrain(...) a macro of Arduino
#define degrees(...) a macro of Arduino
#define interrupts(...) a macro of Arduino
#define lowByte(...) a macro of Arduino
#define radians(...) a macro of Arduino
#define round(...) a macro of Arduino
#define sq(...) a macro of Arduino
#define word(...) a macro of Arduino
#define A0 a macro of Arduino
#define B1 a macro of Arduino
#define F(...) a macro of Arduino
#define HIGH a macro of Arduino
#define INPUT_PULLUP a macro of Arduino
#define LOW a macro of Arduino
#define OUTPUT a macro of Arduino
