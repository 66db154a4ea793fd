/** Tools for agents, by the Model Context Protocol. It is a client of the API, and no other feature knows it. */
import type { Feature } from '../feature.ts';
import { serveMcp } from './serve.ts';

export const mcp = { name: 'mcp', publicRoutes: [serveMcp] } satisfies Feature;
