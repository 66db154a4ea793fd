/**
 * Imports the operations of every feature: `operations.ts` of each folder. The threads of the database import this file and find
 * operations by name. The bundle holds these imports in the same file (bin/build.ts).
 */
import { globSync } from 'node:fs';

const files = globSync('*/operations.ts', { cwd: import.meta.dirname });
await Promise.all(files.map((file) => import(`./${file}`)));
