/* SPDX-License-Identifier: MIT */
/* libradio._scopes: what Python code calls for each of its scopes and counts.
 *
 * cffi gives up the interpreter's lock around each call, and other threads may
 * then keep it for milliseconds: scopes would measure that.  So these hold it.
 * Sites and counters are passed by their address, and live as long as the
 * process, since recorders know them by that. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <radio/radio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a Python integer as a pointer; NULL with an exception set if it is
 * not an integer. */
#define POINTER(object) PyLong_AsVoidPtr (object)

static bool
has_arguments (Py_ssize_t n, Py_ssize_t want)
{
  if (n == want)
    return true;
  PyErr_Format (PyExc_TypeError, "%zd arguments, not %zd", want, n);
  return false;
}

/* Returns a copy of a text, or NULL with an exception set. */
static char *
copy_text (PyObject *object)
{
  Py_ssize_t nbytes;
  const char *text = PyUnicode_AsUTF8AndSize (object, &nbytes);
  if (text == NULL)
    return NULL;
  if (strlen (text) != (size_t) nbytes) {
    PyErr_SetString (PyExc_ValueError, "a NUL is in no name");
    return NULL;
  }
  char *copy = malloc ((size_t) nbytes + 1);
  if (copy == NULL)
    PyErr_NoMemory ();
  else
    memcpy (copy, text, (size_t) nbytes + 1);
  return copy;
}

static void
free_site (struct radio_site *site)
{
  if (site == NULL)
    return;
  free ((char *) site->name);
  free ((char *) site->category);
  free ((char *) site->function);
  free ((char *) site->file);
  free (site);
}

/* Returns a site with copies of the texts, or NULL with an exception set. */
static struct radio_site *
make_site (PyObject *name, PyObject *category, PyObject *function,
           PyObject *file, PyObject *line)
{
  struct radio_site *site = calloc (1, sizeof *site);
  if (site == NULL)
    return PyErr_NoMemory (), NULL;
  site->line = (unsigned) PyLong_AsUnsignedLong (line);
  if (!PyErr_Occurred () && (site->name = copy_text (name))
      && (site->category = copy_text (category))
      && (site->function = copy_text (function))
      && (site->file = copy_text (file)))
    return site;
  free_site (site);
  return NULL;
}

static PyObject *
scopes_site (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 5))
    return NULL;
  struct radio_site *site = make_site (arguments[0], arguments[1],
                                       arguments[2], arguments[3],
                                       arguments[4]);
  return site ? PyLong_FromVoidPtr (site) : NULL;
}

static PyObject *
scopes_counter (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  struct radio_counter *counter = calloc (1, sizeof *counter);
  if (counter == NULL)
    return PyErr_NoMemory ();
  if ((counter->name = copy_text (arguments[0]))
      && (counter->unit = copy_text (arguments[1])))
    return PyLong_FromVoidPtr (counter);
  free ((char *) counter->name);
  free (counter);
  return NULL;
}

static PyObject *
scopes_is_on (PyObject *module, PyObject *nothing)
{
  (void) module;
  (void) nothing;
  return PyBool_FromLong (radio_profile_is_on ());
}

/* The scopes of Python that are open on a thread, but for those of functions:
 * coroutines that take turns may end them in another order.  Threads may share
 * an object that begins and ends them, and it may begin again before its end.
 */
struct open_scope {
  const PyObject *owner;
  uint64_t token;
};

static _Thread_local struct {
  struct open_scope *at;
  size_t n, room;
} open_scopes;

/* Keeps a scope that began; of token 0 nothing records.  Returns None. */
static PyObject *
open_scope (const PyObject *owner, uint64_t token)
{
  if (token == 0)
    Py_RETURN_NONE;
  if (open_scopes.n == open_scopes.room) {
    size_t room = open_scopes.room ? 2 * open_scopes.room : 16;
    void *at = realloc (open_scopes.at, room * sizeof *open_scopes.at);
    if (at == NULL) {
      radio_scope_end (token);
      return PyErr_NoMemory ();
    }
    open_scopes.at = at;
    open_scopes.room = room;
  }
  open_scopes.at[open_scopes.n++] = (struct open_scope) { owner, token };
  Py_RETURN_NONE;
}

/* Returns the place after the owner's innermost scope on this thread; 0: it
 * has none, was begun on another one, or left by an end before. */
static size_t
find_open_scope (const PyObject *owner)
{
  size_t i = open_scopes.n;
  while (i > 0 && open_scopes.at[i - 1].owner != owner)
    i--;
  return i;
}

/* Ends the scope before a place, and those that began in it. */
static void
close_scope (size_t end)
{
  radio_scope_end (open_scopes.at[end - 1].token);
  open_scopes.n = end - 1;
  if (open_scopes.n == 0) {
    /* Threads end without a word. */
    free (open_scopes.at);
    open_scopes.at = NULL;
    open_scopes.room = 0;
  }
}

static const struct radio_counter failures = { "failures", "count" };

/* Gets the name of the exception that something ends by, or NULL for None.
 * False with an exception set if it is neither. */
static bool
get_failure (PyObject *object, const char **failure)
{
  *failure = object == Py_None ? NULL : PyUnicode_AsUTF8AndSize (object, NULL);
  return *failure || object == Py_None;
}

static PyObject *
scopes_begin (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  const struct radio_site *site = POINTER (arguments[1]);
  return site ? open_scope (arguments[0], radio_scope_begin_if_on (site))
              : NULL;
}

static PyObject *
scopes_step (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 3))
    return NULL;
  const struct radio_site *site = POINTER (arguments[1]);
  unsigned long long number = PyLong_AsUnsignedLongLong (arguments[2]);
  if (PyErr_Occurred ())
    return NULL;
  return open_scope (arguments[0], radio_step_begin_if_on (site, number));
}

static PyObject *
scopes_end (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  const char *failure;
  if (!get_failure (arguments[1], &failure))
    return NULL;
  const size_t end = find_open_scope (arguments[0]);
  const bool is_last = end == 0 || end == open_scopes.n;
  if (end > 0) {
    if (failure) {
      radio_scope_text ("failed", failure, RADIO_TEXT_PLAIN);
      radio_scope_add (&failures, 1);
    }
    close_scope (end);
  }
  return PyBool_FromLong (is_last);
}

static PyObject *
scopes_add (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  const struct radio_counter *counter = POINTER (arguments[0]);
  unsigned long long value = PyLong_AsUnsignedLongLong (arguments[1]);
  if (PyErr_Occurred ())
    return NULL;
  radio_scope_add (counter, value);
  Py_RETURN_NONE;
}

static PyObject *
scopes_gauge (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  const struct radio_counter *gauge = POINTER (arguments[0]);
  long long value = PyLong_AsLongLong (arguments[1]);
  if (PyErr_Occurred ())
    return NULL;
  radio_gauge_set (gauge, value);
  Py_RETURN_NONE;
}

static PyObject *
scopes_request (PyObject *module, PyObject *address)
{
  (void) module;
  const struct radio_site *site = POINTER (address);
  return site ? PyLong_FromVoidPtr (radio_async_begin (site)) : NULL;
}

static PyObject *
scopes_request_end (PyObject *module, PyObject *const *arguments,
                    Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  struct radio_async *async = POINTER (arguments[0]);
  const char *failure;
  if (PyErr_Occurred () || !get_failure (arguments[1], &failure))
    return NULL;
  if (failure) {
    radio_async_text (async, "failed", failure, RADIO_TEXT_PLAIN);
    radio_async_add (async, &failures, 1);
  }
  radio_async_end (async);
  Py_RETURN_NONE;
}

/*------------------------------------------------------------------------
 * Functions of Python, by the events of sys.monitoring
 *----------------------------------------------------------------------*/

/* All under the interpreter's lock: the sites of the functions that ran since
 * the recording began, in a table with open addressing. */
struct function {
  PyObject *code;             /* held, so that no other has its address */
  struct radio_site *site;    /* NULL: it is left out */
};

static struct {
  struct function *at;
  size_t n, room;             /* room is a power of two, or 0 */
  unsigned session;
  char *left_out;             /* the folder whose functions are */
  PyObject *disable;          /* what callbacks return to be called no more */
} functions_seen;

/* The functions that are open on a thread. */
struct open_function {
  const PyObject *code;
  uint64_t token;
};

static _Thread_local struct {
  struct open_function *at;
  size_t n, room;
  unsigned session;           /* of an earlier one there are none */
} open_functions;

static size_t
slot_of (const struct function *at, size_t room, const PyObject *code)
{
  size_t i = ((uintptr_t) code >> 4) * 0x9E3779B97F4A7C15u >> 20;
  for (i &= room - 1; at[i].code && at[i].code != code; )
    i = (i + 1) & (room - 1);
  return i;
}

static bool
grow_functions (void)
{
  size_t room = functions_seen.room ? 2 * functions_seen.room : 256;
  struct function *at = calloc (room, sizeof *at);
  if (at == NULL)
    return PyErr_NoMemory (), false;
  for (size_t i = 0; i < functions_seen.room; i++)
    if (functions_seen.at[i].code)
      at[slot_of (at, room, functions_seen.at[i].code)] = functions_seen.at[i];
  free (functions_seen.at);
  functions_seen.at = at;
  functions_seen.room = room;
  return true;
}

/* Fills *site, with NULL for what is left out; false with an exception set. */
static bool
site_of_code (PyObject *code, struct radio_site **site)
{
  PyObject *name = PyObject_GetAttrString (code, "co_qualname");
  PyObject *file = PyObject_GetAttrString (code, "co_filename");
  PyObject *line = PyObject_GetAttrString (code, "co_firstlineno");
  PyObject *category = PyUnicode_FromString ("python");
  const char *path = file ? PyUnicode_AsUTF8AndSize (file, NULL) : NULL;
  *site = NULL;
  bool done = name && line && category && path;
  if (done && strncmp (path, functions_seen.left_out,
                       strlen (functions_seen.left_out)) != 0
      && strncmp (path, "<frozen ", 8) != 0)
    done = (*site = make_site (name, category, name, file, line)) != NULL;
  Py_XDECREF (name);
  Py_XDECREF (file);
  Py_XDECREF (line);
  Py_XDECREF (category);
  return done;
}

/* Returns a function's entry, or NULL with an exception set. */
static const struct function *
find_function (PyObject *code)
{
  if (2 * functions_seen.n >= functions_seen.room && !grow_functions ())
    return NULL;
  size_t i = slot_of (functions_seen.at, functions_seen.room, code);
  if (functions_seen.at[i].code == NULL) {
    struct radio_site *site;
    /* Reading attributes of code runs no code of Python, so the table is as it
     * was. */
    if (!site_of_code (code, &site))
      return NULL;
    functions_seen.at[i] = (struct function) { Py_NewRef (code), site };
    functions_seen.n++;
  }
  return &functions_seen.at[i];
}

static bool
push (const PyObject *code, uint64_t token)
{
  if (open_functions.session != functions_seen.session) {
    open_functions.session = functions_seen.session;
    open_functions.n = 0;
  }
  if (open_functions.n == open_functions.room) {
    size_t room = open_functions.room ? 2 * open_functions.room : 32;
    void *at = realloc (open_functions.at, room * sizeof *open_functions.at);
    if (at == NULL)
      return false;
    open_functions.at = at;
    open_functions.room = room;
  }
  open_functions.at[open_functions.n++]
    = (struct open_function) { code, token };
  return true;
}

static PyObject *
begin_function (PyObject *code, PyObject *if_left_out)
{
  const struct function *function
    = radio_profile_is_on () && functions_seen.left_out ? find_function (code)
                                                        : NULL;
  if (function == NULL && PyErr_Occurred ())
    return NULL;
  if (function && function->site == NULL)
    return Py_NewRef (if_left_out);
  uint64_t token = function ? radio_scope_begin (function->site) : 0;
  if (token != 0 && !push (code, token)) {
    radio_scope_end (token);
    return PyErr_NoMemory ();
  }
  Py_RETURN_NONE;
}

static PyObject *
end_function (PyObject *code, PyObject *if_left_out)
{
  size_t n = open_functions.session == functions_seen.session
             ? open_functions.n : 0;
  while (n > 0 && open_functions.at[n - 1].code != code)
    n--;
  if (n > 0) {
    open_functions.n = n - 1;
    radio_scope_end (open_functions.at[n - 1].token);
    if (open_functions.n == 0) {
      /* Threads end without a word. */
      free (open_functions.at);
      open_functions.at = NULL;
      open_functions.room = 0;
    }
    Py_RETURN_NONE;
  }
  /* It began before the recording, or is left out. */
  if (functions_seen.room == 0)
    Py_RETURN_NONE;
  const struct function *function
    = &functions_seen.at[slot_of (functions_seen.at, functions_seen.room,
                                  code)];
  return Py_NewRef (function->code && function->site == NULL ? if_left_out
                                                             : Py_None);
}

/* Calls of (code, offset, ...).  The events of exceptions cannot be
 * disabled. */
static PyObject *
scopes_function_begin (PyObject *module, PyObject *const *arguments,
                       Py_ssize_t n)
{
  (void) module;
  return n < 1 ? (has_arguments (n, 2), NULL)
               : begin_function (arguments[0], functions_seen.disable);
}

static PyObject *
scopes_function_throw (PyObject *module, PyObject *const *arguments,
                       Py_ssize_t n)
{
  (void) module;
  return n < 1 ? (has_arguments (n, 3), NULL)
               : begin_function (arguments[0], Py_None);
}

static PyObject *
scopes_function_end (PyObject *module, PyObject *const *arguments,
                     Py_ssize_t n)
{
  (void) module;
  return n < 1 ? (has_arguments (n, 3), NULL)
               : end_function (arguments[0], functions_seen.disable);
}

static PyObject *
scopes_function_unwind (PyObject *module, PyObject *const *arguments,
                        Py_ssize_t n)
{
  (void) module;
  return n < 1 ? (has_arguments (n, 3), NULL)
               : end_function (arguments[0], Py_None);
}

static PyObject *
scopes_watch (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  if (functions_seen.left_out) {
    PyErr_SetString (PyExc_RuntimeError, "another profile watches functions");
    return NULL;
  }
  char *left_out = copy_text (arguments[0]);
  if (left_out == NULL)
    return NULL;
  functions_seen.left_out = left_out;
  Py_XDECREF (functions_seen.disable);
  functions_seen.disable = Py_NewRef (arguments[1]);
  functions_seen.session++;
  Py_RETURN_NONE;
}

static PyObject *
scopes_forget (PyObject *module, PyObject *nothing)
{
  (void) module;
  (void) nothing;
  struct function *at = functions_seen.at;
  size_t room = functions_seen.room;
  functions_seen.at = NULL;
  functions_seen.n = functions_seen.room = 0;
  functions_seen.session++;
  free (functions_seen.left_out);
  functions_seen.left_out = NULL;
  for (size_t i = 0; i < room; i++) {
    free_site (at[i].site);
    Py_XDECREF (at[i].code);
  }
  free (at);
  Py_RETURN_NONE;
}

#define FAST(name, function, text)                                      \
  { name, (PyCFunction) (void (*) (void)) function, METH_FASTCALL, text }

static PyMethodDef functions[] = {
  FAST ("site", scopes_site, "(name, category, function, file, line)"),
  FAST ("counter", scopes_counter, "(name, unit)"),
  { "is_on", scopes_is_on, METH_NOARGS, "Whether anything records." },
  FAST ("begin", scopes_begin, "(owner, site)"),
  FAST ("step", scopes_step, "(owner, site, number)"),
  FAST ("end", scopes_end, "(owner, failure): whether it began last"),
  FAST ("add", scopes_add, "(counter, value)"),
  FAST ("gauge", scopes_gauge, "(gauge, value)"),
  { "request", scopes_request, METH_O, "(site): returns a request" },
  FAST ("request_end", scopes_request_end, "(request, failure)"),
  FAST ("watch", scopes_watch, "(left_out, disable)"),
  { "forget", scopes_forget, METH_NOARGS, "After the recorder has stopped." },
  FAST ("function_begin", scopes_function_begin, "(code, offset)"),
  FAST ("function_throw", scopes_function_throw, "(code, offset, error)"),
  FAST ("function_end", scopes_function_end, "(code, offset, value)"),
  FAST ("function_unwind", scopes_function_unwind, "(code, offset, error)"),
  { NULL, NULL, 0, NULL }
};

static PyModuleDef_Slot slots[] = {
  { 0, NULL }
};

static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "_scopes", NULL, 0, functions, slots,
  NULL, NULL, NULL
};

PyMODINIT_FUNC
PyInit__scopes (void)
{
  return PyModuleDef_Init (&definition);
}
