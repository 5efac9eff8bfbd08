export type Question = {
  title: string
  text: string
  facts: readonly (readonly [name: string, value: string])[]
  /** What the button says that agrees. */
  approve: string
}

/**
 * Asks in a dialog of its own, so that nobody takes it for the page's. Resolves
 * to false if the user declines.
 */
export function askUser({
  title,
  text,
  facts,
  approve,
}: Question): Promise<boolean> {
  const dialog = create('dialog', 'dialog', [
    create('p', 'wallet-mark', [
      'Development wallet: real signatures, test money',
    ]),
    create('h2', '', [title]),
    create('p', '', [text]),
    create(
      'dl',
      'facts',
      facts.flatMap(([name, value]) => [
        create('dt', '', [name]),
        create('dd', '', [value]),
      ]),
    ),
  ])
  dialog.setAttribute('aria-label', title)
  const close = (answer: string) => () => dialog.close(answer)
  const reject = create('button', 'button button-secondary', ['Reject'])
  const agree = create('button', 'button button-primary', [approve])
  reject.addEventListener('click', close(''))
  agree.addEventListener('click', close('yes'))
  dialog.append(create('div', 'dialog-foot', [reject, agree]))
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue === 'yes')
      dialog.remove()
    })
  })
}

function create<name extends keyof HTMLElementTagNameMap>(
  name: name,
  className: string,
  children: readonly (Node | string)[],
): HTMLElementTagNameMap[name] {
  const element = document.createElement(name)
  element.className = className
  element.append(...children)
  return element
}
