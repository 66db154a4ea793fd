/**
 * Reads a connection one request head at a time. Node's HTTP parser takes whole chunks of up to 64 KiB, which hold
 * thousands of small requests, and makes an object of each before the first is answered. This class keeps the bytes of
 * a chunk back and parses them up to the end of one head, or to the end of a request's body. The socket is not read
 * while bytes are kept back.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes after the head of a request (RFC 9112 section 2.1). Node's parser accepts no other line ends. */
const END_OF_HEAD = '\r\n\r\n';
/**
 * Number of bytes before the end of the shortest head, `GET / HTTP/1.1`. Line ends before a request are skipped (RFC
 * 9112 section 2.2).
 */
const MIN_HEAD_BYTES = 14;
/**
 * Number of bytes of a body that are parsed at once when its end is not known. They may include a few heads.
 */
const BODY_PIECE_BYTES = 4 * 1024;

type Parse = (bytes: Buffer) => void;

export class ReadAhead {
  readonly #socket: Socket;
  readonly #parse: Parse;
  /** Returns true when another request may be parsed now. */
  readonly #mayParse: () => boolean;
  /** Bytes that have arrived and are not parsed yet. */
  #unparsed: Buffer | undefined;
  /** Number of bytes of the latest request's body that are not parsed yet. */
  #bodyBytesLeft = 0;
  #latest: IncomingMessage | undefined;
  #isLast = false;
  #isParsing = false;
  /** True when this class has paused the socket, not Node. */
  #isHeld = false;

  /**
   * Takes over the reading of a connection. `socket` must belong to an HTTP server.
   * @throws Error when the server does not read the socket
   */
  constructor(socket: Socket, mayParse: () => boolean) {
    const [parse] = socket.listeners('data');
    if (!parse) throw new Error('the HTTP server does not listen for the data of its connection');
    this.#socket = socket;
    this.#parse = (bytes) => parse.call(socket, bytes);
    this.#mayParse = mayParse;
    // A second listener makes Node stop its direct path from the socket to the parser; then the first listener is not
    // needed any more.
    socket.on('data', (chunk: Buffer) => {
      this.#unparsed = this.#unparsed ? Buffer.concat([this.#unparsed, chunk]) : chunk;
      this.#advance();
    });
    socket.off('data', parse as Parse);
    socket.on('resume', () => this.#advance());
  }

  /**
   * Records that the head of this request was parsed. `isLast` is true when the connection ends with it (RFC 9112 section 9.6).
   */
  began(request: IncomingMessage, isLast: boolean): void {
    this.#latest = request;
    this.#isLast = isLast;
    // When Node parsed the chunk by itself, an unknown part of the body is parsed already.
    this.#bodyBytesLeft = this.#isParsing ? Number(request.headers['content-length'] ?? 0) : 0;
  }

  /** Resumes reading. The caller calls it when `mayParse` may have become true. */
  resume(): void {
    if (!this.#isHeld || !this.#mayParse()) return;
    this.#isHeld = false;
    this.#socket.resume();
  }

  /**
   * Parses the kept bytes as far as allowed. Node also pauses the socket, when a body is not read or an answer is not
   * taken; its resumption continues the parsing.
   */
  #advance(): void {
    while (this.#unparsed && this.#mayParse()) {
      if (this.#socket.isPaused()) return;
      this.#isHeld = false;
      const end = this.#pieceEnd(this.#unparsed);
      const piece = this.#unparsed.subarray(0, end);
      this.#unparsed = end < this.#unparsed.length ? this.#unparsed.subarray(end) : undefined;
      // A connection that has ended, for example after bytes that are not HTTP, answers nothing more.
      if (this.#isOver() || this.#socket.writableEnded) continue;
      this.#isParsing = true;
      this.#parse(piece);
      this.#isParsing = false;
    }
    if (this.#mayParse() || this.#socket.isPaused()) return;
    this.#isHeld = true;
    this.#socket.pause();
  }

  /** True when the last request was parsed completely: following bytes are not read as a request. */
  #isOver(): boolean {
    return this.#isLast && this.#latest?.complete === true;
  }

  #pieceEnd(bytes: Buffer): number {
    if (this.#bodyBytesLeft > 0) {
      const end = Math.min(bytes.length, this.#bodyBytesLeft);
      this.#bodyBytesLeft -= end;
      return end;
    }
    if (this.#latest?.complete === false) return Math.min(bytes.length, BODY_PIECE_BYTES);
    const endOfHead = bytes.indexOf(END_OF_HEAD, MIN_HEAD_BYTES);
    return endOfHead < 0 ? bytes.length : endOfHead + END_OF_HEAD.length;
  }
}
