/** Imports what defines the operations of the messages of mailboxes, which run in the threads of the database. */
import './draft-claim.ts';
