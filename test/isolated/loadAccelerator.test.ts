// The engine of ox is compiled once for a process, so no other file may have done so.
import { AcceleratorError, loadAccelerator } from 'countersign/accelerate'
import { expect, test, vi } from 'vitest'

test('a runtime that forbids WebAssembly is named in a typed error, and the next call tries again', async () => {
  const cause = new WebAssembly.CompileError(
    'blocked by Content Security Policy',
  )
  const compile = vi.spyOn(WebAssembly, 'compile').mockRejectedValue(cause)
  const error = await loadAccelerator().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(AcceleratorError)
  expect(String(error)).toContain("'wasm-unsafe-eval'")
  expect(error).toMatchObject({ details: { words: String(cause) } })

  compile.mockRestore()
  expect(await loadAccelerator()).toMatchObject({
    fastAccount: expect.any(Function),
    recoverAddress: expect.any(Function),
    keccak256: expect.any(Function),
  })
})

test('a missing ox is named in a typed error', async () => {
  vi.resetModules()
  vi.doMock('ox/wasm/Hash', () => {
    throw new Error('Cannot find package')
  })
  const error = await loadAccelerator().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(AcceleratorError)
  expect(error).toMatchObject({
    retryable: false,
    details: { words: expect.any(String) },
  })
  expect(String(error)).toContain(
    'The accelerator needs the package ox, whose version 1.8.3 cannot be loaded here',
  )
})
