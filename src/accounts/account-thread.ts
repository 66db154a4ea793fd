/** The module of the threads that serve accounts. */
import { serveSystemPart } from '../thread-app.ts';
import { ACCOUNT_PART } from './part.ts';

/**
 * Size of the slabs that Node cuts small buffers from. A slab lives as long as any buffer in it, and a connection that waits holds some:
 * with the default of 64 KiB, a compressed one takes 20 KiB more.
 */
Buffer.poolSize = 8 * 1024;

await serveSystemPart(ACCOUNT_PART);
