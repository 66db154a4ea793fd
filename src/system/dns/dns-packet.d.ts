/** Types of the part of dns-packet that is used here and in the tests. The package has no types of its own. */
declare module 'dns-packet' {
  export type Question = { name: string; type: string; class?: string };
  export type Answer = { name: string; type: string; ttl?: number; class?: string; data?: unknown };
  export type OptAnswer = { name: '.'; type: 'OPT'; udpPayloadSize: number; extendedRcode?: number };
  export type Packet = {
    id?: number;
    type?: 'query' | 'response';
    /** The flag bits below, with the response code (RFC 1035 section 4.1.1) in the lowest four bits. */
    flags?: number;
    questions?: Question[];
    answers?: Answer[];
    authorities?: Answer[];
    additionals?: (Answer | OptAnswer)[];
  };
  /** Codec of one kind of data. `decode` stores the number of bytes that it has read in `bytes`. */
  export type Codec<T> = { decode: { (message: Buffer, offset: number): T; readonly bytes: number } };
  export const AUTHORITATIVE_ANSWER: number;
  export const TRUNCATED_RESPONSE: number;
  export const RECURSION_DESIRED: number;
  export const RECURSION_AVAILABLE: number;
  export const AUTHENTIC_DATA: number;
  export function encode(packet: Packet): Buffer;
  export function decode(bytes: Buffer): Packet;
  /** Codec of names. The root is `.`; other names have no final dot. */
  export const name: Codec<string> & { encode(name: string): Buffer };
  /** Codec of whole records. */
  export const answer: { encode(record: Answer): Buffer };
  // Codecs of record data. The data begins with its length (RDLENGTH).
  export const a: Codec<string>;
  export const aaaa: Codec<string>;
  export const mx: Codec<{ preference: number; exchange: string }>;
  export const txt: Codec<Buffer[]>;
  export const cname: Codec<string>;
  export const ptr: Codec<string>;
  export const srv: Codec<{ priority: number; weight: number; port: number; target: string }>;
  export const tlsa: Codec<{ usage: number; selector: number; matchingType: number; certificate: Buffer }>;
  export const caa: Codec<{ flags: number; tag: string; value: string }>;
  export const soa: Codec<{ minimum: number }>;
}
