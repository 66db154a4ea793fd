/**
 * A call of Resend's API, as a value: what its client sends, and what it expects. Most calls are one operation of ours, which a call
 * translates in both directions; some are several, which a call makes one after the other.
 */
import type { FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import type { Calls } from '../../http/json/calls.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request in Resend's words. Nothing of it was checked. */
export type Given = {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Undefined when the request has none. */
  body: unknown;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Time of the request in Unix milliseconds. */
  now: number;
};

/** Addresses that answers name. */
export type Links = {
  /** Origin of the API, such as `https://api.mx.example.com`. */
  origin: string;
  /** Returns a link to a file of a received message by its number, or to the whole message for 0. It needs no key, and is valid for a day. */
  received(messageId: string, file: number): string;
};

/** Data that a call may look up. */
export type Access = {
  request: FastifyRequest;
  db: App['db'];
  /** Returns our operations, as requests of the same key. */
  calls(): Calls;
  links: Links;
};

/** A request to an operation of ours, translated from Resend's API. Parameters of the path that are left out stay as they were given. */
export type Asked = { params?: object; query?: object; body?: object };

type AnyCall = {
  /** Method and path as the client sends them, such as `GET /emails/:id`. */
  at: `${Method} /${string}`;
  /** `operationId` of our operation. Its limits hold for the keys of the call. */
  operation: string;
};

/** A call that one operation answers. The checks, the limits and the handler of that operation run. */
export type TranslatedCall = AnyCall & {
  /**
   * Returns the request to the operation. Without it, the operation gets the parameters of the path alone.
   * @throws AppError validation_error for what cannot be translated
   */
  ask?(given: Given, access: Access): Asked | Promise<Asked>;
  /** Returns the answer in Resend's words. The answer of an operation that returns nothing is undefined. */
  answer(answer: never, given: Given, access: Access): unknown;
};

/** A call that needs several operations. Each of them is a request of the same key, and counts as one. */
export type ComposedCall = AnyCall & {
  /**
   * Returns the answer in Resend's words.
   * @throws AppError what an operation has refused
   */
  run(given: Given, calls: Calls, access: Access): Promise<unknown>;
};

export type Call = TranslatedCall | ComposedCall;
