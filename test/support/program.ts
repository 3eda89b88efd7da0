import type { Definition } from '../../src/definition/document/types.ts';
import { compile, type WorkerFacts } from '../../src/steps/compile/program.ts';
import type { Program } from '../../src/steps/program-types.ts';

/** The program of a definition that is meant to compile; what stands in the way fails the test. */
export function programOf(definition: Definition, worker?: WorkerFacts['dataBytes'] | Partial<WorkerFacts>): Program {
  const compiled = compile(definition, typeof worker === 'function' ? { dataBytes: worker } : worker);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems, null, 2));
  return compiled.program;
}
