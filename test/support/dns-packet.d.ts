/** The part of dns-packet the fake DNS server uses; the package carries no types. */
declare module 'dns-packet' {
  export type Question = { name: string; type: string; class?: string };
  export type Answer = { name: string; type: string; ttl?: number; class?: string; data?: unknown };
  export type OptAnswer = { name: '.'; type: 'OPT'; udpPayloadSize: number };
  export type Packet = {
    id?: number;
    type?: 'query' | 'response';
    /** The flag bits below, with the response code (RFC 1035 4.1.1) in the lowest four bits. */
    flags?: number;
    questions?: Question[];
    answers?: Answer[];
    authorities?: Answer[];
    additionals?: (Answer | OptAnswer)[];
  };
  export const AUTHORITATIVE_ANSWER: number;
  export const TRUNCATED_RESPONSE: number;
  export const RECURSION_DESIRED: number;
  export const RECURSION_AVAILABLE: number;
  export function encode(packet: Packet): Buffer;
  export function decode(bytes: Buffer): Packet;
}
