/** Runs the examples of README.md and docs/ with the real curl; the default suite runs them with one that stands in for it. */
import { testExamples } from '../readme/test-examples.ts';

testExamples('real');
