/** Numbers of DNS messages that the name server uses (RFC 1035 section 4, RFC 6891, RFC 7873). */

/** Size of the message header (RFC 1035 section 4.1.1). */
export const HEADER_BYTES = 12;
/** Flags of the header (RFC 1035 section 4.1.1). */
export const FLAGS = {
  response: 0x8000,
  opcode: 0x7800,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
} as const;

/** Response codes (RFC 1035 section 4.1.1). The codes above 15 need an OPT record (RFC 6891 section 6.1.3, RFC 7873 section 8). */
export const CODES = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
  badVersion: 16,
  badCookie: 23,
} as const;
export type ResponseCode = (typeof CODES)[keyof typeof CODES];

/** Types of records and questions (RFC 1035 section 3.2, RFC 1995, RFC 3596, RFC 6891, RFC 8659). */
export const TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const;
export const CLASS_INTERNET = 1;

/** Number of the option with cookies in OPT records (RFC 7873 section 4). */
export const OPTION_COOKIE = 10;
/** Bit of the flags of OPT by which clients say that they understand DNSSEC (RFC 3225 section 3). It is copied into the response. */
export const FLAG_DNSSEC_OK = 0x8000;
