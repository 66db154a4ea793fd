/** The migrations of `index.db`, in order. */
import type { Migration } from '../../db/migration.ts';
import { initial } from './migrations/0001-initial.ts';

export const ACCOUNT_MIGRATIONS: readonly Migration[] = [initial];
