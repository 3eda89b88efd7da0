#!/usr/bin/env node
import { COMMANDS } from './cli.ts';
import { runProcessCommandLine } from './program.ts';

await runProcessCommandLine(COMMANDS);
