from cowboy_sdk import actor, runner, send, call, codec, runtime, ActorRef, TaskGroup, ContinuationLimitError, Address, CodecError
from cowboy_sdk.taskgroup import TaskHandle
from cowboy_sdk.call import call_builder
import pvm_host


@actor
class Shop:
    limit = 3

    def __init__(self, name='shop'):
        self.name = name

    def stock(self, item):
        return self.storage.get(item, 0)


shop = Shop()
print(shop.name, Shop('other').name, shop.address, type(shop.address).__name__, Shop._is_cowboy_actor, shop.limit)
shop.storage['a'] = {'n': [1, 2.5, None, b'x']}
shop.storage[b'raw'] = 5
print(shop.storage['a'], shop.storage['none'], 'a' in shop.storage, 'none' in shop.storage, shop.storage.get('none', 7), shop.stock('raw'))
print(shop.storage.get_raw('a').hex(), pvm_host.get_state(b'raw'), pvm_host.get_state('raw'))
shop.storage.set_raw('raw', b'\x07')
print(shop.storage['raw'], shop.storage.guard('raw').value, shop.storage.get_raw('none'))
shop.storage['nothing'] = None
print(shop.storage['nothing'], 'nothing' in shop.storage, shop.storage.get('nothing', 'default'))
shop.storage.set_raw('odd', b'\xff')
try:
    shop.storage['odd']
except CodecError as error:
    print(type(error).__name__)
del shop.storage['a']
shop.storage.delete('raw')
print('a' in shop.storage, 'raw' in shop.storage)
print(shop._dispatch('stock', 'x'))
try:
    shop._dispatch('nowhere', 1)
except AttributeError:
    print('no such method')

group = TaskGroup()
handles = [group.create_task(runner.llm(str(n))) for n in range(8)]
print(len(group), group, handles[3], handles[3].index, handles[3].task_id, handles[3].done(), group.all_done)
try:
    group.create_task(runner.llm('nine'))
except ContinuationLimitError as error:
    print(type(error).__name__)
try:
    handles[0].result()
except RuntimeError:
    print('not yet')

job = runner.mcp('server', 'tool', path='/x')
print(job.job_type, sorted(job.kwargs.items()), runner.http('u', a=1).args, runner.RUNNER_ADDRESS == Address.JOB_DISPATCHER.to_bytes())
for wrong in ['sync']:
    try:
        @runner.continuation
        def plain(self, msg):
            pass
    except ContinuationLimitError as error:
        print(type(error).__name__)
for target in [5, b'x', '0x12']:
    try:
        send(target, {})
    except Exception as error:
        print(type(error).__name__)
try:
    send(bytes(20), 'text', raw=True)
except TypeError:
    print('bytes only')
try:
    call_builder(bytes(20)).execute()
except ValueError:
    print('no method')
print(runtime.mode(), runtime.is_production(), runtime.is_development())
