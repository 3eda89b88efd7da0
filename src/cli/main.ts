#!/usr/bin/env node
import { COMMANDS } from './cli.ts';
import { runProcess } from './program.ts';

await runProcess(COMMANDS);
