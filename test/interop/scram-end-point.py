"""Logs in to IMAP by SCRAM-SHA-256-PLUS with Cyrus SASL, and prints the answer of the server.

Arguments: port, user name, password, and `own` or `another`: the certificate that the login is bound to.
"""
import ctypes
import imaplib
import ssl
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes

MECHANISM = b"SCRAM-SHA-256-PLUS"
OK, CONTINUE = 0, 1
CB_USER, CB_AUTHNAME, CB_PASS = 0x4001, 0x4002, 0x4004
CHANNEL_BINDING = 21

port, username, password = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3].encode()


class Secret(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ulong), ("data", ctypes.c_char * (len(password) + 1))]


class Callback(ctypes.Structure):
    _fields_ = [("id", ctypes.c_ulong), ("proc", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class ChannelBinding(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("critical", ctypes.c_int),
        ("len", ctypes.c_ulong),
        ("data", ctypes.c_char_p),
    ]


# The context of Python checks certificates, which tests have made themselves.
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
connection = imaplib.IMAP4_SSL("127.0.0.1", port, ssl_context=context, timeout=30)
assert "AUTH=" + MECHANISM.decode() in connection.capabilities

# The value of RFC 5929 section 4: the certificate, hashed as its signature is, unless that is by MD5 or SHA-1.
certificate = connection.socket().getpeercert(binary_form=True)
algorithm = x509.load_der_x509_certificate(certificate).signature_hash_algorithm
if isinstance(algorithm, (hashes.MD5, hashes.SHA1)):
    algorithm = hashes.SHA256()
digest = hashes.Hash(algorithm)
digest.update(certificate)
binding = digest.finalize()
if sys.argv[4] == "another":
    binding = bytes(len(binding))


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p)
def tell_name(_context, _id, result, _length):
    result[0] = username
    return OK


secret = Secret(len(password), password)


@ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Secret))
)
def tell_password(_connection, _context, _id, result):
    result[0] = ctypes.pointer(secret)
    return OK


def callback(number, function):
    return Callback(number, ctypes.cast(function, ctypes.c_void_p) if function else None, None)


sasl = ctypes.CDLL("libsasl2.so.2")
callbacks = (Callback * 4)(
    callback(CB_USER, tell_name),
    callback(CB_AUTHNAME, tell_name),
    callback(CB_PASS, tell_password),
    callback(0, None),
)
session, output = ctypes.c_void_p(), ctypes.c_char_p()
length, chosen = ctypes.c_uint(), ctypes.c_char_p()
assert sasl.sasl_client_init(callbacks) == OK
assert sasl.sasl_client_new(b"imap", b"127.0.0.1", None, None, None, 0, ctypes.byref(session)) == OK
bound = ChannelBinding(b"tls-server-end-point", 1, len(binding), binding)
assert sasl.sasl_setprop(session, CHANNEL_BINDING, ctypes.byref(bound)) == OK
isFirst = True


def answer(challenge):
    global isFirst
    given = ctypes.byref(output), ctypes.byref(length)
    if isFirst:
        result = sasl.sasl_client_start(session, MECHANISM, None, *given, ctypes.byref(chosen))
    else:
        result = sasl.sasl_client_step(session, challenge, len(challenge), None, *given)
    isFirst = False
    assert result in (OK, CONTINUE), result
    return ctypes.string_at(output, length.value)


try:
    print(connection.authenticate(MECHANISM.decode(), answer)[0])
except imaplib.IMAP4.error as error:
    print(error)
