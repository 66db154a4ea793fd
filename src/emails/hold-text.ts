/** Reserves the memory for texts that a request does not contain itself, such as those of a template. */
import type { FastifyRequest } from 'fastify';
import { reserveBytes } from '../http/transport/body.ts';
import type { HoldText } from './render.ts';

/**
 * Bytes reserved for each character of a rendered text: one for the text until it is stored, and one for the message
 * composed from it.
 */
const BYTES_A_CHARACTER = 2;

/** Returns the function that reserves memory for rendered texts until the request has ended. */
export function holdTextFor(request: FastifyRequest): HoldText {
  return (characters) => reserveBytes(request, characters * BYTES_A_CHARACTER);
}
