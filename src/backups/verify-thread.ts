/** The worker thread that verifies a backup: checking a database of many gigabytes takes a core for minutes. */
import { serveJobs } from '../system/killable-threads/serve.ts';
import { verifyBackup } from './verify.ts';

serveJobs((backup: string) => verifyBackup(backup));
