// npm puts the ox of viem where the accelerator looks for its own.
import { deepEqual } from 'node:assert/strict'
import { loadAccelerator } from 'countersign/accelerate'

const told = await loadAccelerator().catch(String)
deepEqual(
  told,
  'AcceleratorError: The accelerator needs ox 1.8.0 or later, and 0.14.67 is installed: run npm install ox@1.8.0.',
)
