# Random numbers behave: seeded ones are the same, others are not.
import os
import random
import secrets
import tempfile
import uuid

random.seed(42)
print(random.random(), random.sample(range(100), 5), random.gauss(0, 1))
print(random.Random(7).choices("abc", k=5), random.SystemRandom().random() != secrets.token_hex())
state = random.getstate()
print(random.random() == (random.setstate(state), random.random())[1])
random.seed()
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, repr((random.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names()))).encode())
    os._exit(0)
os.wait()
theirs = eval(os.read(reader, 1000))
ours = (random.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names()))
print([a == b for a, b in zip(theirs, ours)], uuid.uuid1() != uuid.uuid1(), uuid.uuid4().version)
