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

/* Returns a number of Python's as a pointer; NULL with an exception set if it
 * is none. */
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

static PyObject *
scopes_begin (PyObject *module, PyObject *address)
{
  (void) module;
  const struct radio_site *site = POINTER (address);
  return site ? PyLong_FromUnsignedLongLong (radio_scope_begin_if_on (site))
              : NULL;
}

static PyObject *
scopes_step (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  const struct radio_site *site = POINTER (arguments[0]);
  unsigned long long number = PyLong_AsUnsignedLongLong (arguments[1]);
  if (PyErr_Occurred ())
    return NULL;
  return PyLong_FromUnsignedLongLong (radio_step_begin_if_on (site, number));
}

static PyObject *
scopes_end (PyObject *module, PyObject *token)
{
  (void) module;
  unsigned long long value = PyLong_AsUnsignedLongLong (token);
  if (PyErr_Occurred ())
    return NULL;
  radio_scope_end (value);
  Py_RETURN_NONE;
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
scopes_request_end (PyObject *module, PyObject *address)
{
  (void) module;
  struct radio_async *async = POINTER (address);
  if (PyErr_Occurred ())
    return NULL;
  radio_async_end (async);
  Py_RETURN_NONE;
}

static PyObject *
scopes_fail (PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
  (void) module;
  if (!has_arguments (n, 2))
    return NULL;
  struct radio_async *async = POINTER (arguments[0]);
  if (PyErr_Occurred ())
    return NULL;
  const char *text = PyUnicode_AsUTF8AndSize (arguments[1], NULL);
  if (text == NULL)
    return NULL;
  static const struct radio_counter failures = { "failures", "count" };
  if (async) {
    radio_async_text (async, "failed", text, RADIO_TEXT_PLAIN);
    radio_async_add (async, &failures, 1);
  } else {
    radio_scope_text ("failed", text, RADIO_TEXT_PLAIN);
    radio_scope_add (&failures, 1);
  }
  Py_RETURN_NONE;
}

#define FAST(name, function, text)                                      \
  { name, (PyCFunction) (void (*) (void)) function, METH_FASTCALL, text }

static PyMethodDef functions[] = {
  FAST ("site", scopes_site, "(name, category, function, file, line)"),
  FAST ("counter", scopes_counter, "(name, unit)"),
  { "is_on", scopes_is_on, METH_NOARGS, "Whether anything records." },
  { "begin", scopes_begin, METH_O, "(site): returns a token" },
  FAST ("step", scopes_step, "(site, number): returns a token"),
  { "end", scopes_end, METH_O, "(token)" },
  FAST ("add", scopes_add, "(counter, value)"),
  FAST ("gauge", scopes_gauge, "(gauge, value)"),
  { "request", scopes_request, METH_O, "(site): returns a request" },
  { "request_end", scopes_request_end, METH_O, "(request)" },
  FAST ("fail", scopes_fail, "(request, text): 0: the innermost scope"),
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
