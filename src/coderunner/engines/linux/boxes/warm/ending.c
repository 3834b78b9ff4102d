/* The end of a program whose last word is said: the process ends at once.
 *
 * When an interpreter ends, it takes down the program first: threads, callbacks, modules, streams.
 * It announces what comes then, "cpython.PyInterpreterState_Clear": its own types, frozen code and
 * interned strings are taken apart, which costs a millisecond and more, and nobody can see it. If it
 * is certain that nobody can, and with which code the process is going to end, it ends there.
 *
 * The code is that of the outermost frame of the program, which is seen by a frame evaluation
 * function (PEP 523) that is there for that one frame. Where anything is not as expected, nothing
 * is done, and the interpreter ends as always.
 *
 * Nothing of Python is needed to build this: all of it is looked up in the process. Python 3.10 to
 * 3.14 agree in what is used here. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void Object;
typedef Object *(*Evaluate)(void *thread, void *frame, int throw);
typedef int (*Hook)(const char *event, Object *arguments, void *data);

static struct {
    int (*PySys_AddAuditHook)(Hook, void *);
    int (*PySys_Audit)(const char *, const char *, ...);
    void *(*PyInterpreterState_Get)(void);
    void *(*PyInterpreterState_Main)(void);
    void (*_PyInterpreterState_SetEvalFrameFunc)(void *, Evaluate);
    Evaluate _PyEval_EvalFrameDefault;
    void (*PyErr_Clear)(void);
    Object *(*PyErr_Occurred)(void);
    void (*PyErr_Fetch)(Object **, Object **, Object **);
    void (*PyErr_Restore)(Object *, Object *, Object *);
    Object *(*PyObject_CallObject)(Object *, Object *);
    Object *(*PyObject_GetAttrString)(Object *, const char *);
    Object *(*PyObject_Type)(Object *);
    long (*PyLong_AsLong)(Object *);
    long (*PyList_Size)(Object *);
    Object *(*PyList_GetItem)(Object *, long);
    Object *(*PyTuple_GetItem)(Object *, long);
    int (*PyUnicode_Compare)(Object *, Object *);
    void *(*PyType_GetSlot)(Object *, int);
    void (*Py_IncRef)(Object *);
    void (*Py_DecRef)(Object *);
    Object **PyExc_SystemExit;
    Object *PyLong_Type;
    Object *_Py_NoneStruct;
} py;

enum { TP_BASE = 48, TP_DEL = 53, TP_FINALIZE = 80 }; /* typeslots.h, stable */
enum { UNKNOWN = -1, HIGHEST = 255 };

static Object *get_objects; /* of `gc` */
static Object *script;      /* what the interpreter is about to run */
static int code = UNKNOWN;
static int nothing_left_to_say;
static int evaluated;

static int look_up(void **place, const char *name) {
    *place = dlsym(RTLD_DEFAULT, name);
    return *place != NULL;
}

#define LOOK_UP(name) look_up((void **)&py.name, #name)

static int look_all_up(void) {
    return LOOK_UP(PySys_AddAuditHook) && LOOK_UP(PySys_Audit) && LOOK_UP(PyInterpreterState_Get)
        && LOOK_UP(PyInterpreterState_Main) && LOOK_UP(_PyInterpreterState_SetEvalFrameFunc)
        && LOOK_UP(_PyEval_EvalFrameDefault) && LOOK_UP(PyErr_Clear) && LOOK_UP(PyErr_Occurred)
        && LOOK_UP(PyErr_Fetch) && LOOK_UP(PyErr_Restore) && LOOK_UP(PyObject_CallObject)
        && LOOK_UP(PyObject_GetAttrString) && LOOK_UP(PyObject_Type) && LOOK_UP(PyLong_AsLong)
        && LOOK_UP(PyList_Size) && LOOK_UP(PyList_GetItem) && LOOK_UP(PyTuple_GetItem)
        && LOOK_UP(PyUnicode_Compare) && LOOK_UP(PyType_GetSlot) && LOOK_UP(Py_IncRef)
        && LOOK_UP(Py_DecRef) && LOOK_UP(PyExc_SystemExit) && LOOK_UP(PyLong_Type)
        && LOOK_UP(_Py_NoneStruct);
}

static int is_exactly(Object *thing, Object *type) {
    Object *its = py.PyObject_Type(thing);
    py.Py_DecRef(its); /* the thing has another reference */
    return its == type;
}

static int code_of(Object *status) {
    if (status == NULL || status == py._Py_NoneStruct)
        return 0;
    if (!is_exactly(status, py.PyLong_Type))
        return UNKNOWN;
    long number = py.PyLong_AsLong(status);
    if (number == -1)
        py.PyErr_Clear();
    return number >= 0 && number <= HIGHEST ? (int)number : UNKNOWN;
}

/* Of the error that is set: only SystemExit itself, with nothing or a number. */
static int code_of_error(void) {
    Object *type, *value, *traceback;
    int found = UNKNOWN;
    py.PyErr_Fetch(&type, &value, &traceback);
    if (type == *py.PyExc_SystemExit && (value == NULL || !is_exactly(value, type)))
        found = code_of(value);
    else if (type == *py.PyExc_SystemExit) {
        Object *status = py.PyObject_GetAttrString(value, "code");
        if (status != NULL) {
            found = code_of(status);
            py.Py_DecRef(status);
        } else
            py.PyErr_Clear();
    }
    py.PyErr_Restore(type, value, traceback);
    return found;
}

static void evaluate_with(Evaluate function) {
    py._PyInterpreterState_SetEvalFrameFunc(py.PyInterpreterState_Main(), function);
}

static Object *evaluate_program(void *thread, void *frame, int throw) {
    evaluate_with(py._PyEval_EvalFrameDefault);
    evaluated = 1;
    Object *result = py._PyEval_EvalFrameDefault(thread, frame, throw);
    code = result != NULL ? 0 : code_of_error();
    return result;
}

/* The interpreter says what it is about to execute: the program's code is the one with its name. */
static void notice_code(Object *arguments) {
    Object *name = py.PyObject_GetAttrString(py.PyTuple_GetItem(arguments, 0), "co_filename");
    if (name == NULL)
        py.PyErr_Clear();
    else {
        if (py.PyUnicode_Compare(name, script) == 0) {
            py.Py_DecRef(script);
            script = NULL;
            evaluate_with(evaluate_program);
        }
        py.Py_DecRef(name);
    }
}

/* Whether the end of things of this type can be noticed. All bases count: any may have its own. */
static int is_quiet(Object *type) {
    for (; type != NULL; type = py.PyType_GetSlot(type, TP_BASE))
        if (py.PyType_GetSlot(type, TP_FINALIZE) || py.PyType_GetSlot(type, TP_DEL))
            return 0;
    return 1;
}

static int only_quiet_things_are_left(void) {
    Object *left = py.PyObject_CallObject(get_objects, NULL);
    if (left == NULL) {
        py.PyErr_Clear();
        return 0;
    }
    int quiet = 1;
    for (long number = py.PyList_Size(left); quiet && number-- > 0;) {
        Object *type = py.PyObject_Type(py.PyList_GetItem(left, number));
        quiet = is_quiet(type);
        py.Py_DecRef(type);
    }
    py.Py_DecRef(left); /* before the interpreter goes on: nothing may live longer for it */
    return quiet;
}

static int notice(const char *event, Object *arguments, void *data) {
    (void)data;
    if (script != NULL && strcmp(event, "exec") == 0)
        notice_code(arguments);
    else if (strcmp(event, "cpython.run_file") == 0 && script == NULL && code == UNKNOWN) {
        script = py.PyTuple_GetItem(arguments, 0);
        py.Py_IncRef(script);
    } else if (nothing_left_to_say && strcmp(event, "cpython.PyInterpreterState_Clear") == 0
               && code != UNKNOWN && py.PyInterpreterState_Get() == py.PyInterpreterState_Main()
               && only_quiet_things_are_left())
        exit(code);
    return 0;
}

/* Before the program. With `gc.get_objects`; 0 if all is well. */
int ending_prepare(Object *function) {
    if (!look_all_up())
        return -1;
    /* If anybody else listens who is written in Python, frames come in between. */
    evaluate_with(evaluate_program);
    int failed = py.PySys_Audit("coderunner.ending", NULL);
    evaluate_with(py._PyEval_EvalFrameDefault);
    code = UNKNOWN;
    if (failed || evaluated) {
        py.PyErr_Clear();
        return -1;
    }
    py.Py_IncRef(function);
    get_objects = function;
    return py.PySys_AddAuditHook(notice, NULL);
}

/* After all callbacks: streams are flushed, and what is still there was there before. */
void ending_allow(void) {
    nothing_left_to_say = 1;
}
