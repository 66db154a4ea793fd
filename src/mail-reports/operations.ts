/** Imports what defines the operations of mail reports, which run in the threads of the database. */
import './dmarc-reports/store.ts';
import './reports/store.ts';
import './tls-reports/store.ts';
